"""Names of members as Maxwell writes them: `output_naming_strategy`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_UNDERSCORE: Final = re.compile(r"_(.?)", re.DOTALL)


def camel_case(name: str) -> str:
    """`order_id` as `orderId`; a name of nothing but underscores stays.

    >>> camel_case("primary_key_columns"), camel_case("_uuid_"), camel_case("__")
    ('primaryKeyColumns', 'uuid', '__')
    """
    return _UNDERSCORE.sub(lambda match: match[1].upper() if match[1].islower() else match[1], name.lstrip("_")) or name


def naming(strategy: str) -> Callable[[str], str]:
    return camel_case if strategy == "underscore_to_camelcase" else str
