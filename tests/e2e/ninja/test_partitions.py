"""Targets of several modules: what is made, what an edit rebuilds, what a host program gets."""

from __future__ import annotations

import json
import subprocess

import pytest
from support.ninja import FATCRATE, FILES, YAML, Project

#: The forms that the key has.
PARTITIONS = {
    "named": "{first: [kern], second: [other]}",
    "crates": "[kern, other]",
    "kernels": "{first: [kern/saxpy], second: [other]}",
    "auto": "auto",
}


def partitioned(fresh: Project, text: str) -> Project:
    """The project of the other tests in ``fresh``, with these keys in its target."""
    return fresh.write({**FILES, "fatcrate.yaml": YAML.replace("host: [x86_64]", text)})


def manifest(project: Project) -> dict[str, str]:
    value = json.loads((project.out / "demo.manifest.json").read_text(encoding="utf-8"))
    return {kernel["name"]: kernel["module"] for kernel in value["kernels"]}


def command(project: Project, *argv: str) -> str:
    done = subprocess.run(
        [FATCRATE, *argv], cwd=project.folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("form", PARTITIONS)
def test_modules(fresh: Project, form: str) -> None:
    text = f"host: [x86_64], partitions: {PARTITIONS[form]}"
    made = partitioned(fresh, text)
    made.build().ok()
    modules = manifest(made)
    assert set(modules) == {"saxpy", "double"}
    assert modules["saxpy"] != modules["double"]
    for module in modules.values():
        assert (made.out / f"demo.{module}.fatbin").exists()
    listing = command(made, "inspect", "fatcrate-out/demo.x86_64.o")
    assert "2 containers, 4 images" in listing
    report = json.loads((made.out / "demo.report.json").read_text(encoding="utf-8"))
    assert set(report["modules"]) == set(modules.values())
    assert command(made, "select", "fatcrate-out/demo.x86_64.o", "--device", "8.0").count("cubin")
    ran = command(made, "run", "demo", "double", "--arg", "zeros:f32:1")
    assert ran.startswith("double: 1 thread in 1 block")
    assert made.build().ok().steps == []


def test_an_edit_makes_its_own_module_anew(fresh: Project) -> None:
    text = "host: [x86_64], partitions: {first: [kern], second: [other]}"
    made = partitioned(fresh, text)
    made.build().ok()
    before = made.hashes()
    made.edit("util.rs", "a + a", "a + a + a")
    steps = made.build().ok().steps
    assert not [step for step in steps if "first" in step]
    assert [step for step in steps if step.startswith(("compile", "link", "generate"))] == [
        *("compile other", "compile util", "generate demo, second for compute_90"),
        *("generate demo, second for sm_80", "link demo, second"),
    ]
    changed = {name for name, digest in made.hashes().items() if before[name] != digest}
    assert "demo.second.fatbin" in changed and "demo.x86_64.o" in changed
    assert not [name for name in changed if "first" in name]
    made.edit("util.rs", "a + a + a", "a + a")
    made.build().ok()
    assert made.hashes() == before


def test_a_host_program_finds_the_module_of_a_kernel(fresh: Project) -> None:
    text = "host: [x86_64], partitions: {first: [kern], second: [other]}"
    made = partitioned(fresh, text)
    made.build().ok()
    source = made.folder / "host.c"
    source.write_text(
        '#include <stdio.h>\n#include "demo.h"\nint main(void) {\n'
        "    for (int i = 0; i < DEMO_KERNEL_COUNT; i++)\n"
        '        printf("%s %d\\n", demo_kernels()[i], demo_modules()[i] == demo_first_start);\n'
        "    return demo_modules()[DEMO_KERNEL_COUNT] != 0 || DEMO_MODULE_COUNT != 2;\n}\n",
        encoding="utf-8",
    )
    words = ["-Wall", "-Werror", "-Ifatcrate-out", "host.c", "fatcrate-out/demo.x86_64.o"]
    subprocess.run(["gcc", *words, "-o", "host"], cwd=made.folder, check=True)
    done = subprocess.run([made.folder / "host"], capture_output=True, check=True)
    assert done.stdout == b"double 0\nsaxpy 1\n"


def test_relocatable_modules_become_one_image(fresh: Project) -> None:
    text = "host: [x86_64], relocatable: true, partitions: {first: [kern], second: [other]}"
    made = partitioned(fresh, text)
    made.edit("util.rs", "pub fn", "#[inline(never)]\npub fn")
    refused = made.build()
    assert refused.code == 1
    assert "compute_90 is PTX, which cannot be linked from relocatable partitions" in refused.stderr
    assert "  --> fatcrate.yaml:8:" in refused.stderr
    built = made.edit("fatcrate.yaml", ", compute_90", "").build().ok()
    assert "link demo for sm_80" in built.steps
    assert manifest(made) == {"saxpy": "", "double": ""}
    assert "1 container, 1 image" in command(made, "inspect", "fatcrate-out/demo.fatbin")
    report = json.loads((made.out / "demo.report.json").read_text(encoding="utf-8"))
    assembled = report["archs"]["sm_80"]["assemble"]["kernels"]
    assert {kernel["name"] for kernel in assembled} == {"saxpy", "double"}
    dearer = [k for k in assembled if k["registers"] > k["whole"]["registers"]]
    assert dearer and built.stderr.count("warning[FC0337]") == len(dearer)
    assert command(made, "run", "demo", "double", "--arg", "zeros:f32:1")
    steps = made.edit("util.rs", "a + a", "a + a + a").build().ok().steps
    assert [step for step in steps if step.startswith("assemble")] == [
        "assemble demo, second for sm_80"
    ]


def test_budgets_of_kernels_that_are_not_there(project: Project) -> None:
    project.edit("fatcrate.yaml", "host: [x86_64]", "budgets: {saxpi: {max_stack: 0}}")
    built = project.build()
    assert built.code == 1
    assert (
        "error[FC0329]: saxpi: has a budget, but is not a kernel of the target\n"
        "  --> fatcrate.yaml:8:71\n"
        "  help: did you mean saxpy? kernels: double, saxpy\n"
    ) in built.stderr
