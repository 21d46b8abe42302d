# Everything from outside, in one place. What is missing is named with the Debian package that has it.

set(missing "")

# need(<CMake package> <Debian package> [arguments of find_package])
macro(need package debian)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    list(APPEND missing "${package} is missing: apt-get install ${debian}")
  endif()
endmacro()

if(NARROWCAST_PYTHON)
  # A wheel carries its libraries along: inside of what is ours, wherever Debian has them for that.
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
  need(Python "python3-dev" COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})
  need(nanobind "python3-venv, then pip install ." CONFIG)
endif()
need(Threads libc6-dev)
need(hwy libhwy-dev CONFIG)
need(xxHash libxxhash-dev MODULE)
need(sodium libsodium-dev MODULE)
need(fmt libfmt-dev CONFIG)
need(nlohmann_json nlohmann-json3-dev CONFIG)
need(CLI11 libcli11-dev CONFIG)
need(tomlplusplus libtomlplusplus-dev CONFIG)
need(Boost libboost-dev)
need(ZLIB zlib1g-dev)
need(turbojpeg libturbojpeg0-dev MODULE)
need(chartjs libjs-chart.js MODULE)
if(BUILD_TESTING)
  need(GTest "libgtest-dev libgmock-dev" CONFIG)
  need(rapidcheck librapidcheck-dev CONFIG)
  need(Python3 python3 COMPONENTS Interpreter)
endif()

if(missing)
  list(JOIN missing "\n  " lines)
  message(FATAL_ERROR "\n  ${lines}\nscripts/setup installs all of it.")
endif()

# Optional, see train/. Found here, because imported targets are known from the folder that finds them
# downwards, and tests and examples use them too.
if(NOT NARROWCAST_PYTHON)
  find_package(Torch QUIET)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # Without the first, ccache leaves alone what uses a precompiled header, as the tests do. The others let it
  # know a file again in another checkout.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 ${CCACHE})
endif()
