/** Tables of a library that lends books, with what a contract can say and what it cannot. */
export const lendingTables = `
create table reader (
  id integer primary key,
  full_name varchar(80) not null,
  email text not null unique check (length(email) <= 120),
  joined date not null default current_date,
  "level" text not null default 'basic' check ("level" in ('basic', 'gold')),
  blocked boolean not null default 0
);
create table book (
  isbn text primary key,
  title text not null,
  price decimal(8,2),
  pages int check (pages > 0 and pages <= 5000),
  cover blob,
  title_length int generated always as (length(title)) virtual
);
create table loan (
  id integer primary key,
  reader_id integer not null references reader,
  book_isbn text not null references book(isbn),
  lent_at timestamp not null default current_timestamp,
  note json,
  check (note is null or length(note) < 1000)
);
create table loan_event (loan_id integer not null references loan(id), seq integer not null, what text not null, primary key (loan_id, seq));
create table log (line text);
create view gold as select * from reader where "level" = 'gold';
`
export const lendingRows = `
insert into reader (full_name, email, joined) values ('Rita', 'rita@example.org', '2026-01-02'), ('Rob', 'rob@example.org', '2026-01-01');
insert into book (isbn, title, price, pages) values ('978-0/1', 'A', 4.95, 10), ('978-2', 'B', null, null);
insert into loan (reader_id, book_isbn, lent_at) values (1, '978-0/1', '2026-02-03 04:05:06');
insert into loan_event values (1, 1, 'lent'), (1, 2, 'renewed');
`
