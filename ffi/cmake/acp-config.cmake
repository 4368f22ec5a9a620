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

# The first of these files that is there; empty where none is.
function(acp_first variable)
    set(${variable} "" PARENT_SCOPE)
    foreach(file ${ARGN})
        if(EXISTS "${file}")
            set(${variable} "${file}" PARENT_SCOPE)
            return()
        endif()
    endforeach()
endfunction()

# Adds a target for a library of this name, shared or static, if it is there. On Windows the DLL is in bin, and its import
# library and the static one have the names of either toolchain.
function(acp_add_library name kind library)
    if(TARGET acp::${name})
        return()
    endif()
    set(import "")
    if(kind STREQUAL "STATIC")
        acp_first(location "${acp_libdir}/lib${library}.a" "${acp_libdir}/${library}.lib")
    elseif(WIN32)
        acp_first(location "${acp_prefix}/bin/${library}.dll" "${acp_prefix}/bin/lib${library}.dll")
        acp_first(import "${acp_libdir}/${library}.dll.lib" "${acp_libdir}/${library}.dll.a"
            "${acp_libdir}/lib${library}.dll.a")
        if(NOT import)
            set(location "")
        endif()
    else()
        acp_first(location "${acp_libdir}/lib${library}${CMAKE_SHARED_LIBRARY_SUFFIX}")
    endif()
    if(NOT location)
        return()
    endif()
    add_library(acp::${name} ${kind} IMPORTED)
    set_target_properties(acp::${name} PROPERTIES
        IMPORTED_LOCATION "${location}"
        INTERFACE_INCLUDE_DIRECTORIES "${acp_prefix}/include")
    if(import)
        set_target_properties(acp::${name} PROPERTIES IMPORTED_IMPLIB "${import}")
    endif()
    if(kind STREQUAL "STATIC")
        acp_read_pc(private Libs.private)
        # By their names, which every linker takes in its own way. Compilers add what unwinds by themselves, and know which
        # form of it a static program takes.
        string(REGEX REPLACE "(^| )-lgcc_s( |$)" " " private "${private}")
        string(REGEX REPLACE "(^| )-l" "\\1" private "${private}")
        string(REGEX MATCHALL "[^ ]+" private "${private}")
        set_target_properties(acp::${name} PROPERTIES INTERFACE_LINK_LIBRARIES "${private}")
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

acp_add_library(shared SHARED acp)
acp_add_library(static STATIC acp)
acp_add_either(acp shared static)
acp_add_library(files_shared SHARED acp_files)
acp_add_library(files_static STATIC acp_files)
acp_add_either(files files_shared files_static)

if(NOT TARGET acp::acp)
    set(acp_FOUND FALSE)
    set(acp_NOT_FOUND_MESSAGE "no library in ${acp_libdir}")
endif()
