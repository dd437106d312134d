"""Compatibility layers that run plugins written for Cloudify, CycleCloud, Heat and Fuel unchanged on Phaseline's
engine.
"""
