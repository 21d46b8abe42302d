# Writes version.cpp: cmake -DSOURCE_DIR=... -DVERSION=... -DOUTPUT=... -P Commit.cmake
#
# Runs at every build, and touches the file only when the commit has changed: then one small file is
# compiled and the rest is linked anew.
set(COMMIT "unknown")
# A source tree without .git may lie inside some other repository, whose commit is not ours.
if(EXISTS ${SOURCE_DIR}/.git)
  execute_process(COMMAND git describe --always --abbrev=12 --exclude=*
                  WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE described
                  RESULT_VARIABLE result ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(result STREQUAL "0")
    set(COMMIT ${described})
    # Figures and pages are not built from: measuring writes them, and the next part is still of this commit.
    execute_process(COMMAND git diff --quiet HEAD -- . ":(exclude)docs" ":(exclude)studies/records"
                    WORKING_DIRECTORY ${SOURCE_DIR} RESULT_VARIABLE differs ERROR_QUIET)
    if(NOT differs STREQUAL "0")
      string(APPEND COMMIT "-dirty")
    endif()
  endif()
endif()
configure_file(${SOURCE_DIR}/base/version.cpp.in ${OUTPUT} @ONLY)
