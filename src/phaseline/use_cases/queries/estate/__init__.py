"""The read side of many deployments: filtered lists, environments, trees and drift."""
