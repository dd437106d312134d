"""Why something waits, what decided the time, and the history in the words of Cloudify."""
