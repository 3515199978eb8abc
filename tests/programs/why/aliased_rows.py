"""Three rows that are one list."""


def make_board(rows, columns):
    return [[0] * columns] * rows  # @bug


def mark(board, row, column):
    board[row][column] = 1


def count_marks(board):
    total = 0
    for row in board:
        total += sum(row)
    return total


def main():
    board = make_board(3, 3)
    squares = [n * n for n in range(10)]
    mark(board, 0, 1)
    mark(board, 2, 2)
    marks = count_marks(board)
    print(marks, len(squares))  # @why marks


main()
