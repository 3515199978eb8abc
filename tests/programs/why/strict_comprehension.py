"""A comprehension that leaves out a word too much."""


def tokenize(text):
    return [word.strip(".,").lower() for word in text.split()]


def index(words):
    places = {}
    for number, word in enumerate(words):
        places.setdefault(word, []).append(number)
    return places


def find_common(places, least):
    return {word: len(at) for word, at in places.items() if len(at) > least}  # @bug


def main():
    words = tokenize("The cat. The dog, the bird. A cat")
    places = index(words)
    common = find_common(places, 2)
    listed = sorted(common)
    print(listed)  # @why listed


main()
