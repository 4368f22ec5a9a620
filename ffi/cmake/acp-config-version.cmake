# Whether this version will do: it must be the one that was asked for or a later one of the same series, which below 1.0
# is a minor version.

include("${CMAKE_CURRENT_LIST_DIR}/acp-locate.cmake")
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if(acp_libdir)
    acp_read_pc(PACKAGE_VERSION Version)
    string(REGEX MATCH "^(0\\.[0-9]+|[0-9]+)" acp_series "${PACKAGE_VERSION}")
    if(PACKAGE_FIND_VERSION_RANGE)
        if(PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION_MIN
           AND (PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION_MAX
                OR (PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "INCLUDE"
                    AND PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION_MAX)))
            set(PACKAGE_VERSION_COMPATIBLE TRUE)
        endif()
    elseif(PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION)
        # `0` asks for any of the versions before 1.0.
        string(REGEX MATCH "^(0\\.[0-9]+|[0-9]+)" acp_wanted "${PACKAGE_FIND_VERSION}")
        if(acp_wanted STREQUAL acp_series OR (acp_wanted STREQUAL "0" AND acp_series MATCHES "^0\\."))
            set(PACKAGE_VERSION_COMPATIBLE TRUE)
        endif()
    endif()
    if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
        set(PACKAGE_VERSION_EXACT TRUE)
    endif()
endif()
