"""Service: what every long-running part has in common: a loop that outlives the store's absences."""
