"""Symptom: a customer who has paid gets a reminder."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Invoice:
    customer: str
    paid: bool
    days: int
    is_vip: bool = False


def needs_reminder(invoice: Invoice) -> bool:
    is_late = invoice.days > 30
    wanted = not invoice.paid and is_late or invoice.is_vip  # @bug
    return wanted


def list_reminders(invoices: list[Invoice]) -> list[str]:
    names = []
    for invoice in invoices:
        if needs_reminder(invoice):
            names.append(invoice.customer)
    return names


def main() -> None:
    invoices = [
        Invoice("ann", paid=True, days=40),
        Invoice("ben", paid=False, days=20),
        Invoice("cleo", paid=True, days=3, is_vip=True),
        Invoice("dan", paid=False, days=12),
    ]
    names = list_reminders(invoices)
    print(f"reminders: {names}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: wanted = not invoice.paid and (is_late or invoice.is_vip)
