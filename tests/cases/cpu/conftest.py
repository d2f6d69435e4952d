"""Device crates of these cases, compiled and linked once per run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fatcrate import cpu
from fatcrate.toolchain.discover import Tools

from tests.support.device import Workshop

HERE = Path(__file__).parent


@dataclass
class Shelf:
    """Linked cases: each source file is a crate of kernels."""

    root: Path
    tools: Tools
    factory: pytest.TempPathFactory
    linked: dict[str, tuple[Path, Path]] = field(default_factory=dict)
    modules: list[cpu.Module] = field(default_factory=list)

    def link(self, name: str, source: Path | None = None, **options: object) -> tuple[Path, Path]:
        """The linked module and the manifest of a case, by the name of its source."""
        if name not in self.linked:
            shop = Workshop(self.tools, self.factory.mktemp(name))
            for outcome in (
                shop.gpu(self.root),
                shop.compile(name, source or HERE / f"{name}.rs", deps=["gpu"], **options),
                shop.link(name),
            ):
                assert outcome.code == 0, outcome.stderr
            self.linked[name] = (shop.folder / f"{name}.bc", shop.folder / f"{name}.manifest.json")
        return self.linked[name]

    def module(self, name: str, stage: str = "linked") -> cpu.Module:
        """A module of a case; closed at the end of the session."""
        module = cpu.Module(*self.link(name), stage=stage)  # type: ignore[arg-type]
        self.modules.append(module)
        return module


@pytest.fixture(scope="session")
def shelf(root: Path, tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """All cases."""
    made = Shelf(root, tools, tmp_path_factory)
    yield made
    for module in made.modules:
        module.close()


Load = Callable[[str], cpu.Module]


@pytest.fixture(scope="session", params=["unoptimised", "linked"])
def load(request: pytest.FixtureRequest, shelf: Shelf) -> Load:
    """Gives the module of a case, once for each stage."""
    made: dict[str, cpu.Module] = {}

    def get(name: str) -> cpu.Module:
        if name not in made:
            made[name] = shelf.module(name, request.param)
        return made[name]

    return get
