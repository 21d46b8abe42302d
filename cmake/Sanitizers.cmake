# NARROWCAST_SANITIZE applies to every target: a sanitizer that sees half of a program reports
# nonsense. The first finding ends the program, so that a test fails.
if(NARROWCAST_SANITIZE)
  set(flags -fsanitize=${NARROWCAST_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(${flags})
  add_link_options(${flags})
endif()
