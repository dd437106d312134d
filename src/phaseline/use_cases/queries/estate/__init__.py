"""The read side of many deployments as one: dependencies, schedules, filtered lists, trees and drift."""
