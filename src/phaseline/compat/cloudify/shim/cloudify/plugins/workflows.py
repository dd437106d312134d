"""The built-in workflows as functions: a later floor; the engine has its own."""

from cloudify._later import later

later(globals(), 'install uninstall reinstall heal scale scale_entity auto_heal_reinstall_node_subgraph '
                 'execute_operation start stop restart update install_new_agents validate_agents rollback '
                 'check_status check_drift pull delete_deployment_environment create_deployment_environment '
                 'update_deployment csys_new_deployment_update',
      'start workflows with `phaseline install` and `phaseline uninstall`')
