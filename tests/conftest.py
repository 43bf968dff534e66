"""What holds for every test."""

import os

# Before torch is imported. Threads that spin while they wait for each other crawl beside any other busy program.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
