#include <acp.h>

#include <stdio.h>

int main(void)
{
    acp_config *config = NULL;
    if (acp_abi_version() != ACP_ABI_VERSION || acp_config_new(ACP_ROLE_AGENT, &config) != ACP_OK) {
        return 1;
    }
    acp_config_free(config);
    puts(acp_library_version());
    return 0;
}
