"""What the ancestor's parser raises, under its names, for code that catches it. Our problems carry these names as text."""


class DSLParsingException(Exception):
    """Something is wrong with a blueprint; ``err_code`` is its number, ``element`` where it is."""

    def __init__(self, err_code, *args):
        super(DSLParsingException, self).__init__(*args)
        self.err_code = err_code
        self.element = None


class DSLParsingLogicException(DSLParsingException):
    """The form is right, what it says is not."""


class DSLParsingFormatException(DSLParsingException):
    """The form is wrong."""


class DSLParsingInputTypeException(DSLParsingException):
    """An input is declared in a way that its type does not allow."""


class DSLParsingElementMatchException(DSLParsingException):
    """No element of the language fits a name."""


class DSLParsingSchemaAPIException(DSLParsingException):
    """The description of the language itself is wrong."""


class MissingRequiredInputError(Exception):
    """Inputs that are required are not given."""


class UnknownInputError(Exception):
    """An input is named that the blueprint does not declare."""


class InputEvaluationError(Exception):
    """The path into an input leads nowhere."""


class ConstraintException(Exception):
    """A value breaks a constraint."""


class FunctionValidationError(Exception):
    """The arguments of a function are wrong."""

    def __init__(self, func_name, message=None):
        super(FunctionValidationError, self).__init__('%s is not written as it must be: %s' % (func_name, message))
        self.func_name = func_name


class FunctionEvaluationError(Exception):
    """A function cannot be evaluated."""

    def __init__(self, func_name, message=None):
        super(FunctionEvaluationError, self).__init__('%s cannot be evaluated: %s' % (func_name, message))
        self.func_name = func_name


class UnknownSecretError(Exception):
    """A secret does not exist."""


class UnsupportedGetSecretError(Exception):
    """There is no store of secrets."""


class EvaluationRecursionLimitReached(Exception):
    """Functions need one another too often."""


class UnknownSysEntityError(Exception):
    """``get_sys`` is asked for something it does not know."""


class UnknownSysPropertyError(Exception):
    """``get_sys`` is asked for a property it does not know."""


class IllegalConnectedToConnectionType(Exception):
    """A relationship's connection type is none."""


class UnsupportedRelationship(Exception):
    """A relationship type has no known root."""


class IllegalAllToOneState(Exception):
    """Several targets of an all to one are in use."""


class UnsupportedAllToOneInGroup(Exception):
    """All to one is not possible within a scaling group."""
