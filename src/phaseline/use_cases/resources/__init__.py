"""What a user can do with resources: put them into a store, have them moved to a target, see how they stand, decide."""
