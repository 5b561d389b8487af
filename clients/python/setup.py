"""Installs the one file as a package with a py.typed marker, without which mypy ignores the types of a module."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

MODULE = "agent_work_service_client"


class BuildTypedPackage(build_py):
    def run(self) -> None:
        package = Path(self.build_lib, MODULE)
        package.mkdir(parents=True, exist_ok=True)
        self.copy_file(f"{MODULE}.py", str(package / "__init__.py"))
        (package / "py.typed").touch()


setup(py_modules=[MODULE], cmdclass={"build_py": BuildTypedPackage})
