"""Numbers with check digits, or of a plan: accounts, articles, cards, telephones."""
