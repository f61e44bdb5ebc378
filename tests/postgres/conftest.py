"""The servers of the tests of PostgreSQL."""

from tests.postgres.fixtures import pg_servers, pg_url

__all__ = ["pg_servers", "pg_url"]
