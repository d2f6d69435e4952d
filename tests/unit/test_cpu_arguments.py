"""Arguments of a launch: values against parameters, command-line forms, the arena."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fatcrate.lto.cpu import arena, spec
from fatcrate.lto.cpu.arguments import plan
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.manifest import Kernel, Parameter
from hypothesis import given
from hypothesis import strategies as st


def kernel(*parameters: tuple[str, int], rust: str = "") -> Kernel:
    """A kernel with parameters of the given class and size."""
    made = [
        Parameter(i, 0, size, size, cls, rust_type=rust) for i, (cls, size) in enumerate(parameters)
    ]
    return Kernel("k", "crate", made)


def fault(target: Kernel, *args: object) -> str:
    with pytest.raises(FatcrateError) as caught:
        plan(target, args)  # type: ignore[arg-type]
    return str(caught.value)


@given(st.sampled_from([1, 2, 4, 8, 16]), st.integers(-(2**129), 2**129))
def test_integers_fit_or_are_refused(size: int, number: int) -> None:
    target = kernel(("int", size))
    if -(2 ** (8 * size - 1)) <= number < 2 ** (8 * size):
        (value,) = plan(target, [number]).values
        assert isinstance(value, bytes)
        assert int.from_bytes(value, "little") == number % 2 ** (8 * size)
    else:
        assert "does not fit" in fault(target, number)


@given(st.floats(width=32))
def test_floats_keep_their_bits(number: float) -> None:
    (value,) = plan(kernel(("float", 4)), [number]).values
    assert value == np.float32(number).tobytes()


def test_values_of_numpy_and_booleans() -> None:
    target = kernel(("int", 1), ("int", 4), ("float", 8), ("float", 2), ("pointer", 8))
    values = plan(target, [np.bool_(True), np.int64(-1), np.float32(0.5), 1, None]).values
    assert values == (b"\1", b"\xff" * 4, np.float64(0.5).tobytes(), b"\0\x3c", None)


@pytest.mark.parametrize(
    ("parameter", "value", "text"),
    [
        (("int", 4), 1.5, "parameter 1 (32-bit integer): wants an integer, not float 1.5"),
        (("int", 4), np.zeros(1), "wants an integer, not an array of float64, shape (1,)"),
        (("int", 4), None, "wants an integer, not null"),
        (("float", 4), "1", "parameter 1 (f32): wants a number, not str '1'"),
        (("float", 4), True, "wants a number, not bool True"),
        (("float", 4), 1e300, "1e+300 does not fit f32"),
        (("aggregate", 24), 5, "a struct or array passed by value has no portable layout"),
        (("pointer", 8), 5, "parameter 1 (pointer): wants an array, not int 5"),
        (("pointer", 8), np.zeros((4, 4))[:, 1], "the array is not contiguous"),
        (("pointer", 8), np.zeros(2, ">f4"), "byte order (>f4) is not the machine's"),
        (("pointer", 8), np.array([None]), "an array of Python objects has no bytes"),
    ],
)
def test_value_of_the_wrong_kind(parameter: tuple[str, int], value: object, text: str) -> None:
    assert text in fault(kernel(parameter), value)


def test_all_faults_are_reported_together() -> None:
    text = fault(kernel(("int", 4), ("float", 4), ("pointer", 8)), "a", "b", "c")
    assert text.count("error[FC0603]") == 3


def test_count_of_arguments() -> None:
    text = fault(kernel(("int", 8), ("pointer", 8)), 1)
    assert text == (
        "error[FC0603]: k: takes 2 arguments, got 1\n"
        "  help: give one for each machine parameter: 64-bit integer, pointer"
    )
    assert "machine parameter: none" in fault(kernel(), 1)


def test_element_type_where_the_manifest_knows_it() -> None:
    target = kernel(("pointer", 8), rust="*mut f32")
    assert len(plan(target, [np.zeros(3, np.float32)]).arrays) == 1
    text = fault(target, np.zeros(3, np.int32))
    assert "parameter 1 (*mut f32): wants an array of float32, not of int32" in text
    assert "a.astype(np.float32)" in text


def test_one_array_twice_is_one_buffer_and_overlap_is_refused() -> None:
    target = kernel(("pointer", 8), ("pointer", 8))
    x = np.zeros(8)
    assert plan(target, [x, x]).values == (0, 0)
    assert plan(target, [x[:4], x[4:]]).values == (0, 1)
    assert "shares memory with that of another parameter" in fault(target, x[:5], x[4:])


def given_of(text: str, cls: str = "pointer") -> spec.Given:
    (made,) = spec.parse_arguments(kernel((cls, 8)), [text])
    return made


def test_numbers_on_the_command_line() -> None:
    assert given_of("0x10", "int").value == 16
    assert given_of("-3", "int").value == -3
    assert given_of("3", "float").value == 3.0
    assert given_of("-inf", "float").value == float("-inf")
    assert given_of("null").value is None
    assert given_of("2.5", "int").value == 2.5  # plan() refuses it


def test_buffers_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "a:b c.npy"
    np.save(path, np.arange(6, dtype=np.int16).reshape(2, 3))
    read = given_of(f"in:{path}")
    assert isinstance(read.value, np.ndarray)
    assert read.output is None and not read.value.flags.writeable
    both = given_of(f"inout:{path}")
    assert both.output == path and isinstance(both.value, np.ndarray)
    assert both.value.shape == (2, 3) and both.value.flags.writeable
    fresh = given_of(f"out:{path}:u16:2x3")
    assert fresh.output == path and isinstance(fresh.value, np.ndarray)
    assert fresh.value.tolist() == [[65535] * 3] * 2
    zeros = given_of("zeros:float64:4")
    assert zeros.output is None and isinstance(zeros.value, np.ndarray)
    assert zeros.value.tolist() == [0.0] * 4
    assert given_of(f"zeros:f32:1024:{path}").output == path


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("abc", "'abc' is no argument"),
        ("in:", "'in:' is no argument"),
        ("out:x.npy", "'out:x.npy' is no argument"),
        ("out:x.npy:f32", "'out:x.npy:f32' is no argument"),
        ("out:x.npy:f31:4", "'f31' is not an element type"),
        ("zeros:f32:4y4", "'4y4' is not a shape"),
        ("zeros:f32:-4", "'-4' is not a shape"),
        ("zeros:f64:9999999999999", "bytes are more than this machine can hold"),
        ("in:nope.npy", "--arg 1: nope.npy: there is no such file"),
    ],
)
def test_bad_forms_on_the_command_line(text: str, problem: str) -> None:
    with pytest.raises(FatcrateError) as caught:
        given_of(text)
    assert problem in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"\x93NUMPY", b"hello", b"PK\x03\x04"])
def test_files_that_are_no_arrays(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(data)
    with pytest.raises(FatcrateError, match="FC0615"):
        given_of(f"in:{path}")


def test_archives_and_pickles_are_no_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.zeros(2))
    with pytest.raises(FatcrateError, match=r"archive of arrays"):
        given_of(f"in:{tmp_path / 'x.npz'}")
    np.save(tmp_path / "o.npy", np.array([None]), allow_pickle=True)
    with pytest.raises(FatcrateError, match="FC0615"):
        given_of(f"in:{tmp_path / 'o.npy'}")


@pytest.mark.parametrize(
    ("text", "size"), [("4", (4,)), ("4,2", (4, 2)), ("4x2x1", (4, 2, 1)), ("0", (0,))]
)
def test_sizes(text: str, size: tuple[int, ...]) -> None:
    assert spec.parse_size("--grid", text) == size


@pytest.mark.parametrize("text", ["", "a", "1,2,3,4", "-1", "1.5", "4 2", "99999999999"])
def test_bad_sizes(text: str) -> None:
    with pytest.raises(FatcrateError, match="FC0614"):
        spec.parse_size("--grid", text)


@given(st.lists(st.integers(0, 20000), max_size=6), st.integers(0, 9000))
def test_arena_keeps_buffers_apart(sizes: list[int], guard: int) -> None:
    places, total, denied = arena.layout(sizes, guard)
    assert [p.size for p in places] == sizes
    page = arena.PAGE
    assert total % page == 0
    for place, (hole, size) in zip(places, denied, strict=False):
        assert hole + size == place.begin
        assert place.offset - place.begin >= max(guard, 1)
        assert place.end - (place.offset + place.size) >= guard
        assert place.offset % page == place.end % page == 0
    for place, (hole, _) in zip(places, denied[1:], strict=True):
        assert place.end == hole


@given(st.sampled_from(["f2", "f4", "f8", "i4", "u1"]), st.integers(0, 40), st.data())
def test_arena_finds_every_changed_byte(dtype: str, count: int, data: st.DataObject) -> None:
    made = arena.Arena([np.zeros(3), np.zeros(count, dtype)], guard=64)
    try:
        assert made.damages() == []
        place = made.places[1]
        offset = data.draw(
            st.one_of(
                st.integers(place.begin - place.offset, -1),
                st.integers(place.size, place.end - place.offset - 1),
            )
        )
        made._bytes[place.offset + offset] ^= data.draw(st.integers(1, 255))
        assert made.damages() == [arena.Damage(1, offset, 1)]
    finally:
        made.close()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_bands_hold_signalling_nans(dtype: str) -> None:
    made = arena.Arena([np.zeros(1, dtype)])
    try:
        before = made._bands(made.places[0])[0]
        band = before[: len(before) // 8 * 8].view(dtype)
        assert np.isnan(band).all()
        bits = band.view({2: np.uint16, 4: np.uint32, 8: np.uint64}[band.itemsize])
        quiet = {2: 1 << 9, 4: 1 << 22, 8: 1 << 51}[band.itemsize]
        assert not (bits & bits.dtype.type(quiet)).any()
    finally:
        made.close()
