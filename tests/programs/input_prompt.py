"""Waits for a line of input, says it back, ends."""

answer = input("name? ")
print("hello", answer)
