# Chart.js as Debian ships it: one file for browsers. Sets chartjs_FILE.
find_file(chartjs_FILE chart.min.js PATH_SUFFIXES share/javascript/chart.js)
mark_as_advanced(chartjs_FILE)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(chartjs REQUIRED_VARS chartjs_FILE)
