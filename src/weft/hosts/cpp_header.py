"""The C++ header of a library.  In: the interfaces of its functions; out: the text of <module>.hpp: spans over the
caller's memory, arrays that own what a function gave back, and exceptions in the place of codes.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.hosts import spelling
from weft.hosts.arguments import ArrayArgument, FunctionArgument, HandleArgument, Result, ScalarArgument
from weft.hosts.c_header import Entry, array_types, handle_types, is_changed
from weft.hosts.cpp_handles import SUPPORT, conversion, spelled
from weft.ir.types import DType

_SUPPORT = r"""#ifndef WEFT_CPP
#define WEFT_CPP
namespace weft {

/* What went wrong in a call: a code of the C header, and the line of the Python source. */
class error : public std::runtime_error {
public:
    explicit error(const weft_error &found)
        : std::runtime_error(text(found)), code_(found.code), line_(found.line),
          exception_(found.exception ? found.exception : "")
    {
    }
    int code() const noexcept { return code_; }
    int line() const noexcept { return line_; }
    /* The name of Python's exception; empty if it is none of Python's. */
    const std::string &exception() const noexcept { return exception_; }

private:
    static std::string text(const weft_error &found)
    {
        std::string out = found.function ? found.function : "";
        if (found.line > 0)
            out += std::string(" (") + found.file + ":" + std::to_string(found.line) + ")";
        out += ": ";
        if (found.exception && found.exception[0])
            out += std::string(found.exception) + ": ";
        return out + found.message;
    }
    int code_, line_;
    std::string exception_;
};

/* Elements of the caller's with extents and strides (in elements); T is const where they are only read. */
template <class T, std::size_t Rank> class span {
    template <class C> using sized = decltype(std::declval<C &>().data() + std::declval<C &>().size());

public:
    using indices = std::array<std::int64_t, Rank>;
    span(T *data, indices extents) : data_(data), extent_(extents)
    {
        std::int64_t step = 1;
        for (std::size_t axis = Rank; axis-- > 0; step *= extent_[axis])
            stride_[axis] = step;
    }
    span(T *data, indices extents, indices strides) : data_(data), extent_(extents), stride_(strides) {}
    /* A container with data() and size(), such as std::vector: as a whole, or as an array of these extents. */
    template <class Container, class = sized<Container>>
    span(Container &held) : span(held.data(), whole(held.size()))
    {
    }
    template <class Container, class = sized<Container>>
    span(Container &held, indices extents) : span(held.data(), within(held.size(), extents))
    {
    }
    /* A temporary may be an argument that is only read: it lives as long as the call. */
    template <class Container, class = sized<const Container>, class = std::enable_if_t<std::is_const_v<T>, Container>>
    span(const Container &held) : span(held.data(), whole(held.size()))
    {
    }
    template <class Container, class = sized<const Container>, class = std::enable_if_t<std::is_const_v<T>, Container>>
    span(const Container &held, indices extents) : span(held.data(), within(held.size(), extents))
    {
    }
    template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
    span(const span<U, Rank> &other) : data_(other.data()), extent_(other.extents()), stride_(other.strides())
    {
    }
    T *data() const { return data_; }
    std::int64_t extent(std::size_t axis) const { return extent_[axis]; }
    const indices &extents() const { return extent_; }
    const indices &strides() const { return stride_; }
    template <class... Index> T &operator()(Index... index) const
    {
        static_assert(sizeof...(Index) == Rank, "one index for each axis");
        const std::int64_t at[] = {static_cast<std::int64_t>(index)...};
        std::int64_t place = 0;
        for (std::size_t axis = 0; axis < Rank; axis++)
            place += at[axis] * stride_[axis];
        return data_[place];
    }

private:
    static indices whole(std::size_t size)
    {
        static_assert(Rank == 1, "an array of several axes needs extents");
        return {static_cast<std::int64_t>(size)};
    }
    /* The extents, if so many elements suffice for them. */
    static indices within(std::size_t size, indices extents)
    {
        std::size_t left = size;
        bool fits = true, is_empty = false;
        for (std::int64_t extent : extents) {
            is_empty = is_empty || extent == 0;
            fits = fits && extent >= 0 && (extent == 0 || left >= static_cast<std::size_t>(extent));
            left = extent > 0 ? left / static_cast<std::size_t>(extent) : left;
        }
        if (!fits && !is_empty)
            throw std::invalid_argument("the container has fewer elements than these extents");
        return extents;
    }
    T *data_;
    indices extent_, stride_{};
};

/* An array that a function gave back, freed with this object. A view of an argument owns nothing. */
template <class T, std::size_t Rank> class array {
public:
    using indices = std::array<std::int64_t, Rank>;
    array(T *data, indices extents, indices strides, void *memory, void (*release)(void *))
        : elements_(data, extents, strides), memory_(memory, release)
    {
    }
    T *data() const { return elements_.data(); }
    std::int64_t extent(std::size_t axis) const { return elements_.extent(axis); }
    std::int64_t count() const
    {
        std::int64_t total = 1;
        for (std::int64_t extent : elements_.extents())
            total *= extent;
        return total;
    }
    template <class... Index> T &operator()(Index... index) const { return elements_(index...); }
    operator span<T, Rank>() const { return elements_; }
    operator span<const T, Rank>() const { return elements_; }

private:
    span<T, Rank> elements_;
    std::unique_ptr<void, void (*)(void *)> memory_;
};

} // namespace weft
#endif
"""


def header(module: str, entries: Sequence[Entry], version: str) -> str:
    """The whole header."""
    guard = f"{module.upper()}_HPP"
    kinds, handles = array_types(entries), handle_types(entries)
    parts = [
        f"/* {module} in C++17: compiled from {module}.py by weft {version}. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        f'#include "{module}.h"',
        "",
        *(
            f"#include <{name}>"
            for name in ("algorithm", "array", "complex", "cstddef", "cstdint", "memory", "new", "set", "stdexcept")
        ),
        *(f"#include <{name}>" for name in ("string", "tuple", "type_traits", "utility", "vector")),
        "",
        _SUPPORT,
        *([SUPPORT] if handles else []),
        f"namespace {module} {{",
        "",
        "using weft::error;",
        f"inline void set_threads(int count) {{ {module}_set_threads(count); }}",
        "",
        "namespace detail {",
        *(_conversion(module, dtype, rank) for dtype, rank in kinds),
        *(conversion(module, kind) for kind in handles),
        "} // namespace detail",
        "",
        *(_function(module, entry) for entry in entries),
        f"}} // namespace {module}",
        "#endif",
        "",
    ]
    return "\n".join(parts)


def _conversion(module: str, dtype: DType, rank: int) -> str:
    kind, item, plain = spelling.array(dtype, rank), spelling.CPP_TYPES[dtype], spelling.C_TYPES[dtype]
    axes = range(rank)
    extents = ", ".join(f"given.extents()[{axis}]" for axis in axes)
    strides = ", ".join(f"given.strides()[{axis}]" for axis in axes)
    back = [", ".join(f"given.{what}[{axis}]" for axis in axes) for what in ("extent", "stride")]
    data = "const_cast<std::remove_const_t<T> *>(given.data())"
    return f"""template <class T> inline {kind} plain_{kind}(const weft::span<T, {rank}> &given)
{{
    return {{reinterpret_cast<{plain} *>({data}), {{{extents}}}, {{{strides}}}, nullptr}};
}}
inline weft::array<{item}, {rank}> owned_{kind}(const {kind} &given)
{{
    return {{reinterpret_cast<{item} *>(given.data), {{{back[0]}}}, {{{back[1]}}}, given.memory, {module}_free}};
}}"""


def _function(module: str, entry: Entry) -> str:
    parameters, before, passed, after = [], [], [], []
    for argument in entry.interface.arguments:
        name = spelling.name(argument.name)
        if isinstance(argument, FunctionArgument):
            parameters.append(spelling.pointer(name, argument.count))
            passed.append(name)
            continue
        if isinstance(argument, HandleArgument):
            kind = argument.kind.name
            parameters.append(f"{'' if is_changed(argument) else 'const '}{spelled(argument.kind)} &{name}")
            before.append(f"    const auto plain_{name} = detail::taken_{kind}({name});")
            passed.append(f"plain_{name}.get()")
            if is_changed(argument):
                after.append(f"    {name} = detail::shown_{kind}(plain_{name}.get());")
            continue
        item = spelling.CPP_TYPES[argument.type.dtype if isinstance(argument, ScalarArgument) else argument.dtype]
        if isinstance(argument, ArrayArgument):
            constant = "" if argument.written else "const "
            kind = spelling.array(argument.dtype, argument.rank)
            parameters.append(f"weft::span<{constant}{item}, {argument.rank}> {name}")
            before.append(f"    const {kind} plain_{name} = detail::plain_{kind}({name});")
            passed.append(f"&plain_{name}")
            continue
        parameters.append(f"{item} {name}")
        is_complex = argument.type.dtype.is_complex
        passed.append(f"{{{name}.real(), {name}.imag()}}" if is_complex else name)
    for result in entry.interface.results:
        before.append(f"    {_plain(result)} {result.name}{{}};")
        passed.append(f"&{result.name}")
    returned = [_returned(result) for result in entry.interface.results]
    kinds = [kind for kind, _ in returned]
    values = ", ".join(value for _, value in returned)
    gives = "void" if not kinds else kinds[0] if len(kinds) == 1 else f"std::tuple<{', '.join(kinds)}>"
    values = f"{gives}({values})" if len(kinds) > 1 else values
    body = [
        f"inline {gives} {spelling.name(entry.name)}({', '.join(parameters)})",
        "{",
        *before,
        "    weft_error error;",
        f"    if ({module}_{spelling.name(entry.name)}({', '.join((*passed, '&error'))}) != WEFT_OK)",
        "        throw weft::error(error);",
        *(
            f"    const detail::{r.kind.name}_pointer owned_{r.name}({r.name});"
            for r in entry.interface.results
            if r.kind
        ),
        *after,
        *([f"    return {values};"] if kinds else []),
        "}",
        "",
    ]
    return "\n".join(body)


def _plain(result: Result) -> str:
    dtype = result.type.dtype
    if result.kind is not None:
        return f"{result.kind.type} *"
    return spelling.C_TYPES[dtype] if result.rank is None else spelling.array(dtype, result.rank)


def _returned(result: Result) -> tuple[str, str]:
    """The C++ type of a result, and the result as such."""
    if result.kind is not None:
        return spelled(result.kind), f"detail::shown_{result.kind.name}({result.name})"
    dtype = result.type.dtype
    item = spelling.CPP_TYPES[dtype]
    if result.rank is None:
        return item, f"{item}({result.name}.real, {result.name}.imag)" if dtype.is_complex else result.name
    return f"weft::array<{item}, {result.rank}>", f"detail::owned_{spelling.array(dtype, result.rank)}({result.name})"
