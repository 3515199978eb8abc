"""Small programs of our own making, each with one known bug, for the evaluation.

The first line of each says what is seen to be wrong. `# @symptom` marks the line where it shows,
`# @bug` the line that is wrong, and the `# @fix:` lines at the end are what it should be. The
contenders run a copy without these comments.
"""
