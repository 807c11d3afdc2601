# SPDX-License-Identifier: MIT
"""The library and the command are built by the Makefile above this folder; setuptools adds the extension and packs all of it."""
import os
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
BUILD = os.environ.get('PAGEDEDUP_BUILD', os.path.join(TOP, 'build'))


def make():
    """PAGEDEDUP_BUILD names a folder where both are built already."""
    if 'PAGEDEDUP_BUILD' not in os.environ:
        subprocess.check_call(['make', '-s', '-C', TOP, '-j%d' % (os.cpu_count() or 1), 'build/libpagededup.a', 'build/pagededup'])


class BuildExtension(build_ext):
    def run(self):
        make()
        super().run()

    def build_extensions(self):
        """Python's own flags may name folders of the machine that built it: the extension must not look for libraries there."""
        self.compiler.linker_so = [word for word in self.compiler.linker_so if not word.startswith('-Wl,-rpath')]
        super().build_extensions()


class BuildPackage(build_py):
    def run(self):
        make()
        folder = os.path.join(HERE, 'pagededup', '_bin')
        os.makedirs(folder, exist_ok=True)
        shutil.copy2(os.path.join(BUILD, os.environ.get('PAGEDEDUP_PROGRAM', 'pagededup')), os.path.join(folder, 'pagededup'))
        super().run()


try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel


class Wheel(bdist_wheel):
    """One wheel for every Python from 3.9 on: the extension keeps to the stable ABI."""

    def finalize_options(self):
        self.py_limited_api = 'cp39'
        super().finalize_options()


setup(cffi_modules=['native.py:builder'], cmdclass={'build_ext': BuildExtension, 'build_py': BuildPackage, 'bdist_wheel': Wheel})
