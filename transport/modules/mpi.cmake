# One source, a module for each MPI that is installed. Debian has Open MPI and MPICH side by side,
# each with a pkg-config file of its own.
find_package(PkgConfig QUIET)
if(NOT PkgConfig_FOUND)
  message(STATUS "no MPI transports: apt-get install pkgconf, by which MPI is found")
  return()
endif()
file(GLOB mpi_sources CONFIGURE_DEPENDS mpi*.cpp)

# mpi_module(<name of the module> <pkg-config name> <Debian package>)
function(mpi_module name package debian)
  pkg_check_modules(${name} QUIET IMPORTED_TARGET ${package})
  if(NOT TARGET PkgConfig::${name})
    message(STATUS "no ${name} transport: apt-get install ${debian}")
    return()
  endif()
  transport_module(${name} SOURCES ${mpi_sources} LINKS PkgConfig::${name})
  # The C++ faces of MPI would drag in libraries of their own.
  target_compile_definitions(narrowcast_${name} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  # What it does at exit must still be there.
  target_link_options(narrowcast_${name} PRIVATE -Wl,-z,nodelete)
endfunction()

mpi_module(openmpi ompi-c libopenmpi-dev)
mpi_module(mpich mpich libmpich-dev)
