"""Records on the other side of a call: what machine code reads from the list of words.

A record of records stays in memory and is known by its address: as a value, a machine would be
more than a thousand numbers, which every kernel would take and hand on. Its fields are read when
they are asked for. Nobody writes to the words while machine code runs. For `build` alone; words are
written by `calls.pack`.

Of many runs side by side (`SideBySide`) every word is a pair: whether it is known when the kernel
is compiled; and then the word itself, or where it is among the words of a run. Entries of their
arrays are as far apart as an array says, see `batch`.
"""

from typing import Any, Literal, get_args, get_type_hints

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model
from numba.np import arrayobj, numpy_support

from poinsot.engine.calls import RETURNED, columns
from poinsot.engine.tracing import WORD

arrays: Any = arrayobj
NUMBERS: dict[type, Any] = {int: types.int64, bool: types.boolean, float: types.float64}


class RecordType(types.Type):
    """The type of a record in memory, some fields of which are absent: they are None."""

    #: How arrays are laid out, and how many words tell it besides address and shape.
    layout: Literal["C", "A"] = "C"
    further = 0
    where = "in memory"

    def __init__(self, record: type, absent: tuple[str, ...]) -> None:
        fields: dict[str, tuple[int, Any, int]] = {}
        word, lacks = 0, list[str]()
        for name, hint in get_type_hints(record, include_extras=True).items():
            kind = types.none if name in absent else self._type_of(_present(hint), absent)
            lacks += [name] if name in absent else getattr(kind, "lacks", ())
            fields[name] = word, kind, columns(hint)
            word += self._words(kind)
        self.fields, self.words, self.lacks = fields, word, lacks
        # Forms whose record is the same share the kernels that take it.
        super().__init__(name=" ".join([record.__name__, f"{self.where}, without", *lacks]))

    @classmethod
    def _type_of(cls, hint: Any, absent: tuple[str, ...]) -> Any:
        """Return Numba's type of a field: a number, an array, or a record of these."""
        if hint in NUMBERS:
            return NUMBERS[hint]
        if isinstance(hint, type) and issubclass(hint, tuple):
            record = cls(hint, absent)
            kinds = [kind for _, kind, _ in record.fields.values()]
            if any(isinstance(kind, RecordType | types.BaseTuple) for kind in kinds):
                return record
            return types.BaseTuple.from_types(kinds, hint)  # type: ignore[no-untyped-call]
        array, dimensions, *_ = get_args(hint)
        number = get_args(get_args(array)[1])[0]
        return types.Array(numpy_support.from_dtype(number), dimensions, cls.layout)

    @classmethod
    def _words(cls, kind: Any) -> int:
        """Return how many words a value takes."""
        if isinstance(kind, RecordType):
            return kind.words
        if isinstance(kind, types.BaseTuple):
            parts: Any = kind
            return sum(map(cls._words, list(parts)))
        if isinstance(kind, types.Array):
            return 1 + int(kind.ndim) + cls.further
        return 0 if kind is types.none else 1

    def at(self, builder: Any, words: Any, word: int) -> Any:
        """Return the value of a record that begins at a word of this one."""
        return builder.gep(words, [WORD(word)], inbounds=True)

    def load(self, builder: Any, words: Any, word: int) -> Any:
        """Return a word; it does not change, so that loops need not read it again."""
        return _unchanging(builder, builder.gep(words, [WORD(word)], inbounds=True))

    def address(self, builder: Any, words: Any, word: int, pointer: Any) -> Any:
        """Return a word that is an address."""
        return builder.inttoptr(self.load(builder, words, word), pointer)

    def innermost(self, builder: Any, words: Any, word: int, size: Any) -> Any:
        """Return how far apart the entries of an array are, which have this size."""
        return size


class SideBySide(RecordType):
    """The type of a record of one of many runs side by side."""

    layout, further = "A", 1
    where = "side by side"

    def at(self, builder: Any, words: Any, word: int) -> Any:
        """Return the value of a record that begins at a word of this one."""
        known, own = (builder.extract_value(words, k) for k in range(2))
        moved = builder.gep(known, [WORD(2 * word)], inbounds=True)
        return builder.insert_value(builder.insert_value(words, moved, 0), own, 1)

    def load(self, builder: Any, words: Any, word: int) -> Any:
        """Return a word."""
        foreseen, place, own = self._known(builder, words, word)
        its = builder.load(builder.gep(own, [builder.select(foreseen, WORD(0), place)]))
        return builder.select(foreseen, place, its)

    def address(self, builder: Any, words: Any, word: int, pointer: Any) -> Any:
        """Return a word that is an address; a run's is a pointer, whose origin is known."""
        foreseen, place, own = self._known(builder, words, word)
        at = builder.gep(own, [builder.select(foreseen, WORD(0), place)])
        its = builder.load(builder.bitcast(at, pointer.as_pointer()))
        return builder.select(foreseen, builder.inttoptr(place, pointer), its)

    def innermost(self, builder: Any, words: Any, word: int, size: Any) -> Any:
        """Return how far apart the entries of an array are, which have this size."""
        return builder.mul(self.load(builder, words, word), size)

    def _known(self, builder: Any, words: Any, word: int) -> tuple[Any, Any, Any]:
        """Return whether a word is known, what it is, and the words of the run."""
        known, own = (builder.extract_value(words, k) for k in range(2))
        foreseen, place = (
            _unchanging(builder, builder.gep(known, [WORD(2 * word + k)], inbounds=True))
            for k in range(2)
        )
        return builder.icmp_unsigned("!=", foreseen, WORD(0)), place, own


def _unchanging(builder: Any, at: Any) -> Any:
    value = builder.load(at)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@register_model(RecordType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, WORD.as_pointer())  # type: ignore[no-untyped-call]


@register_model(SideBySide)
class _PairModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        place = types.CPointer(types.int64)  # type: ignore[no-untyped-call]
        members = [("known", place), ("own", place)]
        super().__init__(manager, kind, members)  # type: ignore[no-untyped-call]


def _present(hint: Any) -> Any:
    """Return what a field is that may be None, if it is not."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return kinds[0] if type(None) in get_args(hint) else hint


# -- reading ---------------------------------------------------------------------------------------


@infer_getattr
class _Fields(AttributeTemplate):
    """The types of fields."""

    key = RecordType

    def generic_resolve(self, record: Any, name: str) -> Any:  # type: ignore[override]
        """Return the type of a field."""
        return record.fields[name][1] if name in record.fields else None


@lower_getattr_generic(RecordType)  # type: ignore[no-untyped-call, untyped-decorator]
def _field(context: Any, builder: Any, record: Any, words: Any, name: str) -> Any:
    """Read a field."""
    return _read(context, builder, record, words, *record.fields[name])


def _read(
    context: Any, builder: Any, record: Any, words: Any, word: int, kind: Any, known: int = 0
) -> Any:
    """Return the value that begins at a word; how many columns it has, if that is known."""
    if kind is types.none:
        return context.get_dummy_value()
    if isinstance(kind, RecordType):
        return record.at(builder, words, word)
    if isinstance(kind, types.BaseTuple):
        of: Any = kind
        parts = [
            _read(context, builder, record, words, word + at, each, known)
            for at, each, known in type(record)(of.instance_class, ()).fields.values()
        ]
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.Array):
        return _read_array(context, builder, record, words, word, kind, known)
    value = record.load(builder, words, word)
    if kind is types.boolean:
        return builder.icmp_unsigned("!=", value, WORD(0))
    return builder.bitcast(value, context.get_value_type(kind))


def _read_array(
    context: Any, builder: Any, record: Any, words: Any, word: int, kind: Any, known: int
) -> Any:
    """Return an array, of which words hold the address and the shape."""
    element = context.get_data_type(kind.dtype)
    size = WORD(context.get_abi_sizeof(element))
    pointer = record.address(builder, words, word, element.as_pointer())
    shape = [record.load(builder, words, word + 1 + k) for k in range(kind.ndim)]
    if known:
        shape[-1] = WORD(known)
    strides = [record.innermost(builder, words, word + 1 + kind.ndim, size)]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    made = arrays.make_array(kind)(context, builder)
    arrays.populate_array(made, pointer, shape, strides, size, meminfo=None)
    return made._getvalue()


# -- entries ---------------------------------------------------------------------------------------


def record_at(record: type, absent: tuple[str, ...]) -> Any:
    """Return the function of an address that returns the record in the words there."""
    kind = RecordType(record, absent)

    def at(typing: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            words = builder.inttoptr(arguments[0], WORD.as_pointer())
            return builder.gep(words, [WORD(RETURNED)], inbounds=True)

        return kind(types.int64), generate

    return intrinsic(at)


def record_of_run(record: type, absent: tuple[str, ...]) -> Any:
    """Return the function of two pointers that returns the record in the words there."""
    kind = SideBySide(record, absent)

    def at(typing: Any, known: Any, own: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            pair = ir.Constant(context.get_value_type(kind), ir.Undefined)
            for k, each in enumerate(arguments):
                words = builder.bitcast(each, WORD.as_pointer())
                pair = builder.insert_value(pair, words, k)
            return pair

        return kind(types.voidptr, types.voidptr), generate

    return intrinsic(at)


def _write_returned(typing: Any, at: Any, word: Any, value: Any) -> Any:
    """Store one of the numbers that a call returns, by its address or a pointer."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        place, word, value = arguments
        words = (builder.inttoptr if at is types.int64 else builder.bitcast)(
            place, WORD.as_pointer()
        )
        builder.store(value, builder.gep(words, [word]))
        return context.get_dummy_value()

    return types.void(at, types.int64, types.int64), generate


write_returned: Any = intrinsic(_write_returned)
