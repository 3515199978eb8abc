"""An account that takes the wrong fee."""


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.log = []

    def deposit(self, amount):
        self.balance += amount
        self.log.append(("in", amount))

    def withdraw(self, amount):
        fee = self.find_fee(amount)
        self.balance -= amount + fee
        self.log.append(("out", amount))

    def find_fee(self, amount):
        rate = 0.1 if amount < 100 else 0.01  # @bug
        return amount * rate


class Bank:
    def __init__(self):
        self.accounts = {}

    def open(self, name, balance):
        self.accounts[name] = Account(balance)

    def move(self, source, target, amount):
        self.accounts[source].withdraw(amount)
        self.accounts[target].deposit(amount)


def main():
    bank = Bank()
    bank.open("a", 100.0)
    bank.open("b", 50.0)
    bank.open("c", 1.0)
    bank.move("b", "c", 10.0)
    bank.move("a", "b", 50.0)
    left = bank.accounts["a"].balance
    print(left)  # @why left


main()
