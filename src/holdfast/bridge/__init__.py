"""Inside an agent's loop: records it, and lets somebody outside stop and steer it."""
