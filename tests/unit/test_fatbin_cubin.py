"""The cubin reader against cuobjdump, for every architecture and for NVIDIA's libraries."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from fatcrate.fatbin import cubin, hostfile, usage
from fatcrate.fatbin.source import Source, open_source
from fatcrate.toolchain.diagnostics import FatcrateError
from fatcrate.toolchain.discover import Tools
from support import cuobjdump, images, wheels


def _read(data: bytes) -> cubin.Cubin:
    return cubin.read(Source("k.cubin", data=data))


def _usage(found: cubin.Cubin) -> Counter[tuple[object, ...]]:
    return Counter(
        (f.name, f.registers, f.stack_bytes, f.shared_bytes, _sorted(f.constant_bytes))
        for f in found.functions
        if f.registers is not None
    )


def _sorted(banks: dict[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted(banks.items()))


def _expected(listed: cuobjdump.Listed) -> Counter[tuple[object, ...]]:
    return Counter(
        (f.name, f.registers, f.stack, f.shared, _sorted(f.constants)) for f in listed.functions
    )


def _same(found: cubin.Cubin, listed: cuobjdump.Listed) -> None:
    assert _usage(found) == _expected(listed)
    assert found.global_bytes == listed.global_bytes
    assert found.module_constant_bytes == listed.constants


@pytest.mark.parametrize("arch", images.ARCHS)
def test_every_arch_reads_as_cuobjdump_lists_it(tools: Tools, tmp_path: Path, arch: str) -> None:
    path = tmp_path / "k.cubin"
    path.write_bytes(images.cubin(tools.ptxas, arch, "rich"))
    found = _read(path.read_bytes())
    (listed,) = cuobjdump.resource_usage(Path(tools.cuobjdump), path)
    _same(found, listed)
    assert str(found.arch) == f"sm_{arch}" and found.suffix_known
    text = cuobjdump.run(Path(tools.cuobjdump), "-elf", path)
    head = re.search(r"ABI=(\d+), sm=(\w+), toolkit=([\d.]+)", text)
    assert head and (int(head[1]), head[2]) == (found.abi, arch.removesuffix("f"))
    assert found.toolkit == head[3]
    assert f"Tool Command Line Arguments: {found.options}" in text
    assert _parameters(text) == {
        (k.name, p.ordinal, p.offset, p.size) for k in found.kernels for p in k.params
    }


def _parameters(text: str) -> set[tuple[str, int, int, int]]:
    made = set()
    for section in re.split(r"^\.nv\.info\.", text, flags=re.M)[1:]:
        name = section.split("\n", 1)[0]
        body = re.split(r"^\.(?:section|nv|text|rel)", section, flags=re.M)[0]
        for ordinal, offset, size in re.findall(
            r"Ordinal : 0x(\w+)\s+Offset\s*: 0x(\w+)\s+Size\s*: 0x(\w+)", body
        ):
            made.add((name, int(ordinal, 16), int(offset, 16), int(size, 16)))
    return made


def test_kernel_details(tools: Tools) -> None:
    found = {k.name: k for k in _read(images.cubin(tools.ptxas, "90", "rich")).kernels}
    assert set(found) == {"empty", "with_shared", "with_stack"}
    shared = found["with_shared"]
    assert [(p.ordinal, p.offset, p.size) for p in shared.params] == [
        (0, 0, 24),
        (1, 24, 1),
        (2, 32, 8),
    ]
    assert (shared.param_bytes, shared.param_base) == (40, 0x210)
    assert shared.required_threads == (128, 2, 1)
    assert shared.barriers == 4
    assert found["with_stack"].max_registers == 40
    assert found["with_stack"].stack_bytes >= 64
    assert found["empty"].params == []


def test_clusters_and_large_parameters(tools: Tools) -> None:
    text = (
        b".version 8.8\n.target sm_90\n.address_size 64\n"
        b".visible .entry k(.param .align 8 .b8 big[5000], .param .u32 n)\n"
        b".explicitcluster .reqnctapercluster 2, 2, 1 .maxntid 64, 2, 1\n{ ret; }\n"
    )
    (kernel,) = _read(images.assemble(tools.ptxas, text, "90")).kernels
    assert [(p.offset, p.size) for p in kernel.params] == [(0, 5000), (5000, 4)]
    assert kernel.cluster == (2, 2, 1) and kernel.explicit_cluster
    assert kernel.max_threads == (64, 2, 1)


def test_a_relocatable_cubin_is_told_apart(tools: Tools) -> None:
    text = images.ptx("80")
    assert _read(images.assemble(tools.ptxas, text, "80", "-c")).relocatable
    assert not _read(images.assemble(tools.ptxas, text, "80")).relocatable


def test_variables_of_the_module(tools: Tools) -> None:
    found = _read(images.cubin(tools.ptxas, "80", "rich"))
    assert (found.objects["counter"], found.objects["table"]) == (8, 16)


def _old_ptxas(folder: Path) -> str:
    """ptxas of CUDA 12, whose cubins below SM 100 have the older layout."""
    with zipfile.ZipFile(wheels.wheel("nvidia-cuda-nvcc-cu12")) as archive:
        name = next(n for n in archive.namelist() if n.endswith("/bin/ptxas"))
        path = Path(archive.extract(name, folder))
    path.chmod(0o755)
    return str(path)


def test_cubins_of_cuda_12(tools: Tools, tmp_path: Path) -> None:
    ptxas = _old_ptxas(tmp_path)
    for arch, abi in (("75", 7), ("80", 7), ("90", 7), ("90a", 7), ("100a", 8), ("120", 8)):
        path = tmp_path / f"{arch}.cubin"
        text = images.ptx(arch, source="rich", isa="8.7" if arch < "100" else "")
        path.write_bytes(images.assemble(ptxas, text, arch))
        found = _read(path.read_bytes())
        assert (str(found.arch), found.abi, found.toolkit) == (f"sm_{arch}", abi, "12.9")
        (listed,) = cuobjdump.resource_usage(Path(tools.cuobjdump), path)
        _same(found, listed)


#: The slice has one library of each CUDA major; all of them together hold over 160,000
#: functions.
_SLICE = ("nvidia-curand", "nvidia-curand-cu12")
_ALL = (*_SLICE, "nvidia-npp", "nvidia-cublas")


def _compare_library(tool: Path, library: Path) -> int:
    listed = cuobjdump.resource_usage(tool, library)
    count = 0
    with open_source(library) as source:
        found = [
            image
            for fatbin in hostfile.module(source).fatbins
            for image in fatbin.images
            if image.kind == "cubin"
        ]
        assert len(found) == len(listed)
        for image, expected in zip(found, listed, strict=True):
            assert str(image.arch) == expected.arch
            made = cubin.read(Source(str(library), data=image.payload))
            _same(made, expected)
            assert usage.of_kernels(bytes(image.payload)) == [
                (k.name, k.registers, k.shared_bytes, k.stack_bytes, k.constant_bytes.get(0, 0))
                for k in made.kernels
            ]
            image.release()
            count += len(expected.functions)
    return count


def test_libraries_of_nvidia(tools: Tools, full: bool) -> None:
    count = 0
    for package in _ALL if full else _SLICE:
        for library in wheels.libraries(package):
            if full or library.stat().st_size < 200 << 20:
                count += _compare_library(Path(tools.cuobjdump), library)
    assert count > (20_000 if full else 3_000)


def test_damaged_cubins_are_errors(tools: Tools) -> None:
    data = images.cubin(tools.ptxas, "90")
    for size in range(0, len(data), 7):
        with pytest.raises(FatcrateError, match="FC040"):
            _read(data[:size])
    with pytest.raises(FatcrateError, match="machine 62, not CUDA"):
        _read(data[:18] + b"\x3e\0" + data[20:])
