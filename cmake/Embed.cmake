# Files as constants of a library, so that the program needs none of them beside it.
#
#   embed(nc_study HEADER study/page/embedded.hpp chart_js=/usr/share/.../chart.min.js page_js=page.js)
#
# HEADER declares for each of them `std::string_view <name>();` in the namespace narrowcast.

if(CMAKE_SCRIPT_MODE_FILE)  # cmake -DNAME= -DFILE= -DHEADER= -DOUTPUT= -P Embed.cmake
  file(READ "${FILE}" text)
  file(WRITE "${OUTPUT}"
       "// ${NAME}(): a file as it was when this was built.\n#include \"${HEADER}\"\n\n"
       "namespace narrowcast {\n\nstd::string_view ${NAME}() {\n"
       "  return R\"embedded(${text})embedded\";\n}\n\n}  // namespace narrowcast\n")
  return()
endif()

set(embed_script ${CMAKE_CURRENT_LIST_FILE})

function(embed target)
  cmake_parse_arguments(PARSE_ARGV 1 EMBED "" "HEADER" "")
  foreach(pair IN LISTS EMBED_UNPARSED_ARGUMENTS)
    string(REGEX MATCH "^([a-z_]+)=(.+)$" pair "${pair}")
    set(name ${CMAKE_MATCH_1})
    get_filename_component(file ${CMAKE_MATCH_2} ABSOLUTE)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.cpp)
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DFILE=${file} -DHEADER=${EMBED_HEADER}
              -DOUTPUT=${output} -P ${embed_script}
      DEPENDS ${file} ${embed_script}
      COMMENT "Embedding ${name}"
      VERBATIM)
    target_sources(${target} PRIVATE ${output})
  endforeach()
endfunction()
