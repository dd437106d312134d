"""Special imports that make short commands start fast."""
