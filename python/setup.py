# SPDX-License-Identifier: MIT
"""The library and the command are built by the Makefile above this folder; setuptools adds the extension and packs all of it.  An archive
of the sources (sdist) contains the parts of the folder above that the build needs, in source/."""
import gzip
import os
import shutil
import subprocess
import sys
import tarfile

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from native import BUILD, HERE, TOP  # noqa: E402

BUILT = [os.path.join(BUILD, name) for name in ('libpagededup.a', 'pagededup')]
PLATFORM = os.environ.get('PAGEDEDUP_PLATFORM', '')  # the system of a cross compiler, as a wheel names it
SOURCES = ['Makefile', 'VERSION', 'LICENSE', 'THIRD-PARTY', 'src', 'include', 'dict', 'tools', 'tests/golden']


def files():
    """The files that the build needs, as paths in TOP."""
    for source in SOURCES:
        path = os.path.join(TOP, source)
        if os.path.isfile(path):
            yield source
        for folder, folders, names in os.walk(path):
            folders.sort()
            yield from (os.path.relpath(os.path.join(folder, name), TOP) for name in sorted(names))


def make():
    """Build both, except if PAGEDEDUP_BUILD names a folder where they are built already, or if no source is newer: make would build them
    again if they were built with other flags."""
    if 'PAGEDEDUP_BUILD' in os.environ:
        return
    oldest = min(os.path.getmtime(path) if os.path.exists(path) else 0 for path in BUILT)
    if any(os.path.getmtime(os.path.join(TOP, file)) > oldest for file in files()):
        subprocess.check_call(['make', '-s', '-C', TOP, '-j%d' % (os.cpu_count() or 1), *(os.path.relpath(path, TOP) for path in BUILT)])


class BuildExtension(build_ext):
    def run(self):
        make()
        super().run()

    def build_extensions(self):
        """Python's own flags may name folders of the machine that built it: the extension must not look for libraries there."""
        self.compiler.linker_so = [word for word in self.compiler.linker_so if not word.startswith('-Wl,-rpath')]
        super().build_extensions()
        if PLATFORM.startswith('musllinux'):  # zig names musl as its authors do, and auditwheel expects the name of Alpine
            for extension in self.extensions:
                subprocess.check_call([os.environ.get('PAGEDEDUP_PATCHELF', 'patchelf'), '--replace-needed', 'libc.so',
                                       'libc.musl-%s.so.1' % PLATFORM.split('_', 3)[3], self.get_ext_fullpath(extension.name)])


class BuildPackage(build_py):
    def run(self):
        make()
        folder = os.path.join(HERE, 'pagededup', '_bin')
        os.makedirs(folder, exist_ok=True)
        shutil.copy2(os.path.join(BUILD, os.environ.get('PAGEDEDUP_PROGRAM', 'pagededup')), os.path.join(folder, 'pagededup'))
        super().run()


class Source(sdist):
    def make_release_tree(self, base_dir, names):
        super().make_release_tree(base_dir, names)
        words = os.environ.get('DICT_SOURCE', '/usr/lib/python3/dist-packages/jieba')
        copies = {os.path.join('source', file): os.path.join(TOP, file) for file in files()}
        copies.update({os.path.join('source', 'jieba', file): os.path.join(words, file) for file in ('dict.txt', 'analyse/idf.txt')})
        for name, file in copies.items():
            os.makedirs(os.path.dirname(os.path.join(base_dir, name)), exist_ok=True)
            shutil.copy2(file, os.path.join(base_dir, name))

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, **ids):
        """With the same bytes for the same files: no users, no times except SOURCE_DATE_EPOCH."""
        def same(member):
            member.uid = member.gid = 0
            member.uname = member.gname = ''
            member.mtime = int(os.environ.get('SOURCE_DATE_EPOCH', 0))
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            return member

        name = base_name + '.tar.gz'
        with open(name, 'wb') as file, gzip.GzipFile('', 'wb', 9, file, 0) as packed, tarfile.open(fileobj=packed, mode='w') as archive:
            archive.add(base_dir, filter=same)
        return name


class Wheel(bdist_wheel):
    """One wheel for every Python from 3.9 on: the extension keeps to the stable ABI."""

    def finalize_options(self):
        self.py_limited_api = 'cp39'
        super().finalize_options()

    def get_tag(self):
        *python, platform = super().get_tag()
        return (*python, PLATFORM or platform)


setup(cffi_modules=['native.py:builder'],
      cmdclass={'build_ext': BuildExtension, 'build_py': BuildPackage, 'bdist_wheel': Wheel, 'sdist': Source})
