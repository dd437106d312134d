"""What lists read: several selects as one statement, summaries of deployments, and details of many executions (RF5)."""
