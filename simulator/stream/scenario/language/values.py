"""Source of a column's values: the name of a generator and its arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails, PydanticKnownError, core_schema

from simulator.errors import closest, did_you_mean
from simulator.stream import generators
from simulator.stream.generators.generator import NEEDED, Generator


@dataclass(frozen=True)
class Values:
    """`{range: [1, 9]}` is the generator `range` with its arguments, parsed; a plain name is a generator without
    arguments."""

    kind: str
    arguments: Any

    @property
    def generator(self) -> Generator:
        return generators.find(self.kind)

    @classmethod
    def read(cls, data: Any) -> Values:
        """Parses `values` as written in a scenario. Raises ValueError or ValidationError."""
        if isinstance(data, Values):
            return data
        if isinstance(data, str):
            return cls._alone(data)
        if not isinstance(data, dict):
            raise PydanticKnownError("dict_type")
        data = _gathered(data)
        if unknown := [key for key in data if not generators.is_known(key)]:
            raise _errors([{"type": "extra_forbidden", "loc": (key,), "input": data[key]} for key in unknown])
        if len(data) != 1:
            raise ValueError(f"needs exactly one generator, not {' and '.join(sorted(data)) or 'none'}")
        ((kind, arguments),) = data.items()
        generator = generators.find(kind)
        if arguments is None and isinstance(generator.alone, dict):
            arguments = generator.alone
        try:
            return cls(kind, generator.adapter.validate_python(arguments))
        except ValidationError as error:
            if arguments is None:
                raise ValueError(f"{kind} needs arguments; leave the key out to do without") from None
            raise _errors([_under(kind, details) for details in error.errors(include_url=False)]) from None

    @classmethod
    def _alone(cls, kind: str) -> Values:
        if not generators.is_known(kind) or (alone := generators.find(kind).alone) is NEEDED:
            names = [generator.name for generator in generators.everything() if generator.alone is not NEEDED]
            near = closest(kind, [generator.name for generator in generators.everything()])
            hint = f" It takes arguments: {{{near}: …}}." if near and near not in names else ""
            hint = hint or did_you_mean(kind, names, f" Those are {', '.join(names)}.")
            raise ValueError(f"{kind!r} is not a generator that stands alone.{hint}")
        return cls(kind, generators.find(kind).adapter.validate_python(alone))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(_written)
        return core_schema.no_info_plain_validator_function(cls.read, serialization=written)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        all_generators = generators.everything()
        # the handler applies annotations only to a schema nested in another
        copy_schema = {
            generator.name: handler(core_schema.list_schema(generator.adapter.core_schema))["items"]
            for generator in all_generators
        }
        arguments = {
            generator.name: {**copy_schema[generator.name], "description": generator.doc}
            for generator in all_generators
        }
        for generator in all_generators:
            for key in generator.beside:
                arguments[key] = {"type": "string", "description": f"Of {generator.name}: its {key}."}
        return {
            "anyOf": [
                {"enum": [generator.name for generator in all_generators if generator.alone is not NEEDED]},
                {"type": "object", "properties": arguments, "additionalProperties": False},
            ]
        }


def _gathered(data: dict[str, Any]) -> dict[str, Any]:
    """`{of: products.price, via: product_id}` as `{of: {column: products.price, via: product_id}}`."""
    for kind in data:
        generator = generators.find(kind) if generators.is_known(kind) else None
        if generator is not None and generator.beside and len(data) > 1 and {*data} - {kind} <= {*generator.beside}:
            return {kind: {generator.main: data[kind], **{key: data[key] for key in data if key != kind}}}
    return data


def _under(kind: str, details: Any) -> InitErrorDetails:
    """An error in a generator's arguments as an error of the values."""
    under = {key: details[key] for key in ("type", "input", "ctx") if key in details}
    return {**under, "loc": (kind, *details["loc"])}  # type: ignore[typeddict-item]


def _errors(details: list[InitErrorDetails]) -> ValidationError:
    return ValidationError.from_exception_data("values", details)


def _written(values: Values) -> dict[str, Any]:
    arguments = values.arguments
    return {values.kind: arguments.model_dump(mode="json") if isinstance(arguments, BaseModel) else arguments}


def is_leaf(node: dict[str, Any]) -> bool:
    """Whether a mapping in a document is a generator: it has a generator's name and nothing else. Otherwise it is an
    object of the document."""
    return len(node) == 1 and generators.is_known(next(iter(node)))
