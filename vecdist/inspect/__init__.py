"""What an expression becomes, drawn and counted."""
