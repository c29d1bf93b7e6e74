"""Zendesk's Maxwell."""
