"""Values by arithmetic: counter-based draws (`draw.py`) and pools of texts that Faker made once (`pools.py`)."""
