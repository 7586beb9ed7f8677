# For Spack: builds a release from its sources. ci/release fills in what stands between @ signs.
#
# The file goes into a repository of packages: as packages/libtrace/package.py, or from Spack 1.0
# on as spack_repo/NAMESPACE/packages/libtrace/package.py. Spack 0.23 found out by it what to
# build. That it builds was not tried.

import os

from spack.package import *


class Libtrace(Package):
    """libtrace records every MPI and MPI-IO call of a parallel program. One library fits MPICH,
    Open MPI and every other MPI of their binary interfaces. The command mpitrace runs programs
    under it and says why they are slow."""

    # The sources are taken from the folder in which `spack install libtrace` is called.
    manual_download = True
    url = f"file://{os.getcwd()}/libtrace-@VERSION@-source.tar.xz"

    license("MIT OR Apache-2.0")

    version("@VERSION@", sha256="@SOURCE_SHA256@")

    # No MPI: the recorder knows their binary interfaces.
    depends_on("c", type="build")
    depends_on("rust@1.90:", type="build")
    depends_on("binutils", type="build")

    def install(self, spec, prefix):
        Executable("ci/build")()
        Executable("ci/install")(prefix)
