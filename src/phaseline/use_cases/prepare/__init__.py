"""What an execution would do: plans, problems and warnings. Nothing is stored."""
