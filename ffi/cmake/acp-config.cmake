# find_package(acp) gives the targets
#
#     acp::acp     what a program links: the shared library where the prefix has it, otherwise the static one
#     acp::shared  the shared library
#     acp::static  the static library, with what it needs from the system
#
# and, where libacp_files is installed too,
#
#     acp::files, acp::files_shared, acp::files_static   the same of it; it is linked beside those above
#
# each with its include folder, for acp.h and for acp.hpp (which wants C++17).

include("${CMAKE_CURRENT_LIST_DIR}/acp-locate.cmake")
if(NOT acp_libdir)
    set(acp_FOUND FALSE)
    set(acp_NOT_FOUND_MESSAGE "no pkgconfig/acp.pc under ${acp_prefix}/lib, lib64 or lib/ARCHITECTURE")
    return()
endif()

# Adds a target for one library file, if it is there.
function(acp_add_library name kind file)
    if(EXISTS "${acp_libdir}/${file}" AND NOT TARGET acp::${name})
        add_library(acp::${name} ${kind} IMPORTED)
        set_target_properties(acp::${name} PROPERTIES
            IMPORTED_LOCATION "${acp_libdir}/${file}"
            INTERFACE_INCLUDE_DIRECTORIES "${acp_prefix}/include")
        if(kind STREQUAL "STATIC")
            acp_read_pc(private Libs.private)
            string(REPLACE " " ";" private "${private}")
            set_target_properties(acp::${name} PROPERTIES INTERFACE_LINK_LIBRARIES "${private}")
        endif()
    endif()
endfunction()

# Adds the target that stands for the shared library or, where there is none, for the static one.
function(acp_add_either name shared static)
    foreach(kind ${shared} ${static})
        if(TARGET acp::${kind} AND NOT TARGET acp::${name})
            add_library(acp::${name} INTERFACE IMPORTED)
            set_target_properties(acp::${name} PROPERTIES INTERFACE_LINK_LIBRARIES acp::${kind})
        endif()
    endforeach()
endfunction()

acp_add_library(shared SHARED libacp${CMAKE_SHARED_LIBRARY_SUFFIX})
acp_add_library(static STATIC libacp.a)
acp_add_either(acp shared static)
acp_add_library(files_shared SHARED libacp_files${CMAKE_SHARED_LIBRARY_SUFFIX})
acp_add_library(files_static STATIC libacp_files.a)
acp_add_either(files files_shared files_static)

if(NOT TARGET acp::acp)
    set(acp_FOUND FALSE)
    set(acp_NOT_FOUND_MESSAGE "no library in ${acp_libdir}")
endif()
