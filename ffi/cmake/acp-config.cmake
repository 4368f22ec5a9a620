# find_package(acp) gives the targets
#
#     acp::acp     what a program links: the shared library where the prefix has it, otherwise the static one
#     acp::shared  the shared library
#     acp::static  the static library, with what it needs from the system
#
# each with its include folder, for acp.h and for acp.hpp (which wants C++17).

include("${CMAKE_CURRENT_LIST_DIR}/acp-locate.cmake")
if(NOT acp_libdir)
    set(acp_FOUND FALSE)
    set(acp_NOT_FOUND_MESSAGE "no pkgconfig/acp.pc under ${acp_prefix}/lib, lib64 or lib/ARCHITECTURE")
    return()
endif()

# Adds a target for one library file, if it is there.
function(acp_add_library kind file)
    string(TOLOWER ${kind} name)
    if(EXISTS "${acp_libdir}/${file}" AND NOT TARGET acp::${name})
        add_library(acp::${name} ${kind} IMPORTED)
        set_target_properties(acp::${name} PROPERTIES
            IMPORTED_LOCATION "${acp_libdir}/${file}"
            INTERFACE_INCLUDE_DIRECTORIES "${acp_prefix}/include")
    endif()
endfunction()

acp_add_library(SHARED libacp${CMAKE_SHARED_LIBRARY_SUFFIX})
acp_add_library(STATIC libacp.a)
if(TARGET acp::static)
    acp_read_pc(acp_private Libs.private)
    string(REPLACE " " ";" acp_private "${acp_private}")
    set_target_properties(acp::static PROPERTIES INTERFACE_LINK_LIBRARIES "${acp_private}")
    unset(acp_private)
endif()

if(NOT TARGET acp::acp)
    add_library(acp::acp INTERFACE IMPORTED)
    if(TARGET acp::shared)
        set_target_properties(acp::acp PROPERTIES INTERFACE_LINK_LIBRARIES acp::shared)
    elseif(TARGET acp::static)
        set_target_properties(acp::acp PROPERTIES INTERFACE_LINK_LIBRARIES acp::static)
    else()
        set(acp_FOUND FALSE)
        set(acp_NOT_FOUND_MESSAGE "no library in ${acp_libdir}")
    endif()
endif()
