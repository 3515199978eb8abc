"""More variables than fit one page."""

for _n in range(1, 501):
    globals()[f"name_{_n:03}"] = _n
print("done")  # @done
