"""The functions of the built-in types Component, Blueprint and PasswordSecret, by the names in the types file."""
