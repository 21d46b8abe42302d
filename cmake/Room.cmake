# One folder is one room is one static library, so the link graph is the architecture.
#
#   room(codec DEPENDS base OWNS hwy/ LINKS hwy::hwy fmt::fmt)
#
#   DEPENDS  the rooms it may include and links; tools/layout.py holds every #include to this
#   OWNS     beginnings of header names that no other room may include
#   LINKS    outside libraries, seen by this room alone
#   EXCEPT   a folder inside that is not part of the library: it builds something of its own
#   UNLESS   why it is not built here, if there is a reason; its rules hold all the same
#
# Sources are whatever lies in the folder: a new codec or command is a new file and a row in its
# list, and nothing here changes. Headers at the top of the folder are the room's public face, those
# in folders below are private to it. main.cpp belongs to a program, not to the library.

file(WRITE ${PROJECT_BINARY_DIR}/rooms.txt "")  # what tools/layout.py reads

# A room that is no static library: its DEPENDS and OWNS, and nothing is built.
function(room_rules name)
  cmake_parse_arguments(PARSE_ARGV 1 ROOM "" "" "DEPENDS;OWNS")
  list(JOIN ROOM_DEPENDS " " depends)
  list(JOIN ROOM_OWNS " " owns)
  file(APPEND ${PROJECT_BINARY_DIR}/rooms.txt "${name}: ${depends} : ${owns}\n")
endfunction()

function(room name)
  cmake_parse_arguments(PARSE_ARGV 1 ROOM "" "EXCEPT;UNLESS" "DEPENDS;OWNS;LINKS")
  if(ROOM_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "room(${name}): what is ${ROOM_UNPARSED_ARGUMENTS}?")
  endif()
  room_rules(${name} DEPENDS ${ROOM_DEPENDS} OWNS ${ROOM_OWNS})
  if(ROOM_UNLESS)
    message(STATUS "no ${name}: ${ROOM_UNLESS}")
    return()
  endif()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.hpp)
  list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/main.cpp)
  if(ROOM_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${ROOM_EXCEPT}/")
  endif()

  add_library(nc_${name} STATIC ${sources})
  add_library(narrowcast::${name} ALIAS nc_${name})
  target_sources(nc_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
                                                    FILES ${headers})
  target_compile_features(nc_${name} PUBLIC cxx_std_20)
  set_target_properties(nc_${name} PROPERTIES EXPORT_NAME ${name}
                                              POSITION_INDEPENDENT_CODE ON
                                              VERIFY_INTERFACE_HEADER_SETS ON)
  list(TRANSFORM ROOM_DEPENDS PREPEND nc_ OUTPUT_VARIABLE rooms)
  target_link_libraries(nc_${name} PUBLIC ${rooms} PRIVATE ${ROOM_LINKS})
  house_rules(nc_${name})
  unite(nc_${name})
endfunction()

# Compiler options of everything we compile ourselves.
function(house_rules target)
  target_compile_options(
    ${target}
    PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wold-style-cast
            -Wnon-virtual-dtor -Woverloaded-virtual
            # Every CPU gives the same bits: a * b + c is fused where the source says std::fma, and
            # nowhere else.
            -ffp-contract=off
            # Rooms may end up in shared objects; functions are inlined all the same.
            -fno-semantic-interposition)
endfunction()
