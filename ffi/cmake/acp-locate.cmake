# Finds the prefix that this file is installed in, its library folder, and what acp.pc says there. All that changes from
# one installation to the next is in acp.pc; the files here are the same in every one, and a prefix may be moved.

get_filename_component(acp_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(acp_libdir "")
foreach(acp_folder "lib/${CMAKE_LIBRARY_ARCHITECTURE}" lib lib64)
    if(NOT acp_libdir AND EXISTS "${acp_prefix}/${acp_folder}/pkgconfig/acp.pc")
        get_filename_component(acp_libdir "${acp_prefix}/${acp_folder}" ABSOLUTE)
    endif()
endforeach()
unset(acp_folder)

# Sets a variable to what acp.pc has after `NAME: `.
function(acp_read_pc variable name)
    file(STRINGS "${acp_libdir}/pkgconfig/acp.pc" line REGEX "^${name}: ")
    string(REGEX REPLACE "^${name}: *" "" line "${line}")
    set(${variable} "${line}" PARENT_SCOPE)
endfunction()
