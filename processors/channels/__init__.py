"""What model servers send, one object at a time → parts by channel → the text of one stream."""
