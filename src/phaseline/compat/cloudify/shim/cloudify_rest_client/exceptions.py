"""Errors of the REST interface."""


class CloudifyClientError(Exception):
    """A request failed."""

    def __init__(self, message, server_traceback=None, status_code=-1, error_code=None, error_reason=None,
                 response=None, **kwargs):
        super(CloudifyClientError, self).__init__(message)
        self.status_code = status_code
        self.error_code = error_code
        self.error_reason = error_reason
        self.server_traceback = server_traceback
        self.response = response
        self._message = message

    def __str__(self):
        return '%s: %s' % (self.status_code, self._message) if self.status_code != -1 else str(self._message)


def _error(name, code=None):
    return type(name, (CloudifyClientError,), {'ERROR_CODE': code, '__module__': __name__})


DeploymentEnvironmentCreationInProgressError = _error(
    'DeploymentEnvironmentCreationInProgressError', 'deployment_environment_creation_in_progress_error')
IllegalExecutionParametersError = _error('IllegalExecutionParametersError', 'illegal_execution_parameters_error')
NoSuchIncludeFieldError = _error('NoSuchIncludeFieldError', 'no_such_include_field_error')
MissingRequiredDeploymentInputError = _error(
    'MissingRequiredDeploymentInputError', 'missing_required_deployment_input_error')
UnknownDeploymentInputError = _error('UnknownDeploymentInputError', 'unknown_deployment_input_error')
UnknownDeploymentSecretError = _error('UnknownDeploymentSecretError', 'unknown_deployment_secret_error')
FunctionsEvaluationError = _error('FunctionsEvaluationError', 'functions_evaluation_error')
UnknownModificationStageError = _error('UnknownModificationStageError', 'unknown_modification_stage_error')
ExistingStartedDeploymentModificationError = _error(
    'ExistingStartedDeploymentModificationError', 'existing_started_deployment_modification_error')
DeploymentModificationAlreadyEndedError = _error(
    'DeploymentModificationAlreadyEndedError', 'deployment_modification_already_ended_error')
UserUnauthorizedError = _error('UserUnauthorizedError', 'unauthorized_error')
ForbiddenError = _error('ForbiddenError', 'forbidden_error')
PluginInUseError = _error('PluginInUseError', 'plugin_in_use')
BlueprintInUseError = _error('BlueprintInUseError', 'blueprint_in_use_error')
PluginInstallationError = _error('PluginInstallationError', 'plugin_installation_error')
NotModifiedError = _error('NotModifiedError', 'not_modified')
InvalidExecutionUpdateStatus = _error('InvalidExecutionUpdateStatus', 'invalid_exception_status_update')
NotClusterMaster = _error('NotClusterMaster', 'not_cluster_master')
MaintenanceModeActiveError = _error('MaintenanceModeActiveError', 'maintenance_mode_active')
MaintenanceModeActivatingError = _error('MaintenanceModeActivatingError', 'entering_maintenance_mode')
