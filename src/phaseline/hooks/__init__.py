"""Lifecycle hooks (source 2): ordered classes of a provider, called before and after every action of a deployment."""
